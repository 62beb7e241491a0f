import { fileAccess } from '../../packages/sandbox/src/files/access/choose-access.ts'

/** Whether the file guard of this run of the tests holds folders by descriptors, or compares paths. */
export const FILES_LEVEL = fileAccess.level
