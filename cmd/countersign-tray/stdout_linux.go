package main

import "syscall"

func moveOnto(from, to int) error { return syscall.Dup3(from, to, 0) }
