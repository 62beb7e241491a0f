#!/usr/bin/env node
import { printWarnings } from './output/print.ts'
import { runCli } from './program.ts'

printWarnings()
process.exit(await runCli(process.argv.slice(2)))
