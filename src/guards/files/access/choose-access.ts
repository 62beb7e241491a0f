import { existsSync } from 'node:fs'
import { descriptorAccess } from './descriptor-access.ts'
import type { FileAccess } from './file-access.ts'
import { pathAccess } from './path-access.ts'

/** How this machine reaches names below open folders, chosen once. */
export const fileAccess: FileAccess = existsSync('/proc/self/fd') ? descriptorAccess : pathAccess
