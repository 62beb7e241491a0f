/**
 * The risks of a command that need an approval each time, as an approval request words them, the most dangerous first.
 * Equal to those that the package `shell` calls severe: `test/severe-risks.test.ts`.
 */
export const SEVERE_RISKS: readonly string[] = [
  'downloads a script and runs it',
  'reads a file that holds secrets',
  'runs a script that it reads from its input',
  'runs with other rights',
  'changes the machine or what runs on it',
  'deletes files',
  'discards changes or rewrites the git history',
  'replaces or deletes commits in another repository (force push)',
  'pushes commits to another repository',
  'publishes a package',
  'acts on another machine',
  'sends data to the network',
  'runs code given on the command line',
  'runs code that is only known when it runs',
  'uses files outside the folders it may touch',
]
