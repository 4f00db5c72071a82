package main

import "syscall"

func moveOnto(from, to int) error { return syscall.Dup2(from, to) }
