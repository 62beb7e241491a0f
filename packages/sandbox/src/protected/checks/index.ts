/** Checks of what commands have left in git folders, and the reports about it. */
export { GitChecks, type GitTree, kindOfEntry, refuseUnnameable, sortGitEntry } from './git-checks.ts'
export { GitObjects, holdsObjects, type ObjectCheckOptions } from './git-objects.ts'
export { holdsRefs, type RefFile } from './git-refs.ts'
export { describeReports, type PlaceReport, type ProtectedPlace, reportsOf } from './place-report.ts'
export { RefChecks } from './ref-checks.ts'
