a.o: a.cc b\ c.h \
 ../d.h e$$f.h

x.h:
