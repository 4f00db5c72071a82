package sandbox

var thisMachine = machineARM64
