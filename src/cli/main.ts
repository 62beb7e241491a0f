#!/usr/bin/env node
import { runCli } from './run-cli.ts'

process.exit(await runCli(process.argv.slice(2)))
