/** Loaded before a program (`node --import`), writes the id of its process to the end of PID_FILE, for tests that end it. */
import { appendFileSync } from 'node:fs'

appendFileSync(process.env.PID_FILE, `${process.pid}\n`)
