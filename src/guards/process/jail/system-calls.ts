/** A processor that a filter can be made for. */
export type FilterArch = 'x64' | 'arm64'

/** System calls that no command needs and that have let others out of jails: name, then its number on x64 and arm64. */
export const REFUSED_CALLS: ReadonlyArray<readonly [name: string, x64: number | undefined, arm64: number | undefined]> =
  [
    // Into other processes.
    ['ptrace', 101, 117],
    ['process_vm_readv', 310, 270],
    ['process_vm_writev', 311, 271],
    ['process_madvise', 440, 440],
    ['process_mrelease', 448, 448],
    ['kcmp', 312, 272],
    ['pidfd_getfd', 438, 438],
    // Work of the kernel that goes past the filter, or is a large piece of it that few need.
    ['io_uring_setup', 425, 425],
    ['io_uring_enter', 426, 426],
    ['io_uring_register', 427, 427],
    ['bpf', 321, 280],
    ['perf_event_open', 298, 241],
    ['userfaultfd', 323, 282],
    ['lookup_dcookie', 212, 18],
    ['fanotify_init', 300, 262],
    // Keyrings are not part of any namespace: the hub's own would be in reach.
    ['keyctl', 250, 219],
    ['add_key', 248, 217],
    ['request_key', 249, 218],
    // Files by number, past the mounts.
    ['open_by_handle_at', 304, 265],
    // Mounts and namespaces.
    ['mount', 165, 40],
    ['umount2', 166, 39],
    ['pivot_root', 155, 41],
    ['chroot', 161, 51],
    ['fsopen', 430, 430],
    ['fsconfig', 431, 431],
    ['fsmount', 432, 432],
    ['fspick', 433, 433],
    ['move_mount', 429, 429],
    ['open_tree', 428, 428],
    ['open_tree_attr', 467, 467],
    ['mount_setattr', 442, 442],
    ['unshare', 272, 97],
    ['setns', 308, 268],
    // The machine as a whole.
    ['kexec_load', 246, 104],
    ['kexec_file_load', 320, 294],
    ['init_module', 175, 105],
    ['finit_module', 313, 273],
    ['delete_module', 176, 106],
    ['reboot', 169, 142],
    ['swapon', 167, 224],
    ['swapoff', 168, 225],
    ['acct', 163, 89],
    ['quotactl', 179, 60],
    ['quotactl_fd', 443, 443],
    ['syslog', 103, 116],
    ['settimeofday', 164, 170],
    ['clock_settime', 227, 112],
    ['clock_adjtime', 305, 266],
    ['adjtimex', 159, 171],
    ['sethostname', 170, 161],
    ['setdomainname', 171, 162],
    ['vhangup', 153, 58],
    ['nfsservctl', 180, 42],
    ['migrate_pages', 256, 238],
    ['move_pages', 279, 239],
    ['iopl', 172, undefined],
    ['ioperm', 173, undefined],
    ['modify_ldt', 154, undefined],
    ['uselib', 134, undefined],
    ['ustat', 136, undefined],
    ['sysfs', 139, undefined],
    ['_sysctl', 156, undefined],
  ]

/** Calls that are refused for some of their arguments only. */
export const JUDGED_CALLS = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
} as const
