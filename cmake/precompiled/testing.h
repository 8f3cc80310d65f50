// The headers that most tests include beside those of standard.h (cmake/Warnings.cmake).
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "standard.h"
