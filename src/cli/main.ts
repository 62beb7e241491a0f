#!/usr/bin/env node
import { printWarnings } from './print-warnings.ts'
import { runCli } from './run-cli.ts'

printWarnings()
process.exit(await runCli(process.argv.slice(2)))
