package fixture

// #include <stdlib.h>
import "C" // want cgo

func system() { C.system(nil) }
