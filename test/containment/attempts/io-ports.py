# Gets hold of the ports through which the processor talks to its devices.
# Why: with them a disk controller does what one wants.
# needs: any
# at-none: either, because many kernels are built without these calls
from attempt import escaped, in_child, run, syscall


def one_port():
    in_child(lambda: syscall('ioperm', 0x80, 1, 1) or escaped('has a port'))


def all_ports():
    in_child(lambda: syscall('iopl', 3) or escaped('has all ports'))


run(one_port, all_ports)
