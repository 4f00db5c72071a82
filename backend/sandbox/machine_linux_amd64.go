package sandbox

var thisMachine = machineAMD64
