# Changes the programs that processes run, by their links in /proc: that of the sandbox itself too.
# Why: root needs no capability for what it owns; whoever may write to bwrap afterwards has the hub.
# needs: any
# at-none: escapes as root
import os
from changes import change
from attempt import run


def processes():
    return [name for name in os.listdir('/proc') if name.isdigit()] + ['self', 'thread-self']


def change_running():
    for pid in processes():
        change(f'/proc/{pid}/exe')


def change_below_roots():
    for pid in processes():
        for path in ['root/usr/bin/env', 'root/usr/bin/bwrap', 'root/usr/bin', 'root/etc', 'root']:
            change(f'/proc/{pid}/{path}')


def replace_below_roots():
    for pid in processes():
        os.rename(f'/proc/{pid}/root/usr/bin/env', f'/proc/{pid}/root/usr/bin/env')


def link_into_workspace():
    os.link('/proc/1/exe', 'linked', follow_symlinks=True)
    change('linked')


run(change_running, change_below_roots, replace_below_roots, link_into_workspace)
