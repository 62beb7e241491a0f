/** Stands in for `choose-access.ts` in the project `paths` of the tests: the machine as if it had no /proc. */
export { pathAccess as fileAccess } from '../../packages/sandbox/src/files/access/path-access.ts'
