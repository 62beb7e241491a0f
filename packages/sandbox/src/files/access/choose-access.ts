import {
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { type FileAccess, pathAccess } from './path-access.ts'

/** Holds a place in the tree without reading it; Node does not export the constant. */
const O_PATH = 0o10000000

const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

let own: string | undefined

/** Linux with /proc: the kernel starts at the descriptor of the folder, so no earlier name is resolved again. */
export const descriptorAccess: FileAccess = {
  level: 'descriptors',
  openBase: (path) => openSync(realpathSync.native(path), FOLDER),
  path: (folder) => `/proc/self/fd/${folder}`,
  at: (folder, name) => `/proc/self/fd/${folder}/${name}`,
  atBytes: (folder, name) => Buffer.from(`/proc/self/fd/${folder}/${name}`, 'latin1'),
  prefix(folder) {
    // The same as /proc/self, which would be looked up again for each entry: a tenth of a whole listing.
    own ??= `/proc/${readlinkSync('/proc/self')}/fd`
    return `${own}/${folder}/`
  },
  openFolder: (_, path) => openSync(path, FOLDER),
  open: (_, path, flags, mode) => openSync(path, flags | constants.O_NOFOLLOW, mode),
  openHandle: (_, path, flags, mode) => open(path, flags | constants.O_NOFOLLOW, mode),
  stat: (_, path) => lstatSync(path, { throwIfNoEntry: false }),
  statBig: (_, path) => lstatSync(path, { bigint: true, throwIfNoEntry: false }),
  look: (_, use) => use(),
  change: (_, use) => use(),
  rename: (from, to) => renameSync(from.path, to.path),
  link: (from, to) => linkSync(from.path, to.path),
  unlink: ({ path }) => unlinkSync(path),
  makeFolder: ({ path }, mode) => void mkdirSync(path, mode),
  removeFolder: ({ path }) => rmdirSync(path),
}

/** How this machine reaches names below open folders, chosen once. */
export const fileAccess: FileAccess = existsSync('/proc/self/fd') ? descriptorAccess : pathAccess
