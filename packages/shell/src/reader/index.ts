export { readArgv, readCommandLine } from './read-command-line.ts'
