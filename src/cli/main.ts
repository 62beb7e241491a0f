#!/usr/bin/env node
import { runCli } from './run-cli.ts'
import { tellWarnings } from './tell-warnings.ts'

tellWarnings()
process.exit(await runCli(process.argv.slice(2)))
