import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { printWarnings } from './print.ts'

let others: NodeJS.WarningListener[]
beforeEach(() => {
  others = process.listeners('warning') as NodeJS.WarningListener[]
})
afterEach(() => {
  vi.restoreAllMocks()
  process.removeAllListeners('warning')
  for (const listener of others) process.on('warning', listener)
})

it('prints a warning of ours once, escaped, and leaves all others to the previous listeners', () => {
  const passed: string[] = []
  const said: string[] = []
  process.removeAllListeners('warning')
  process.on('warning', ({ message }) => void passed.push(message))
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean(said.push(String(text))))
  printWarnings()
  const warn = (name: string, message: string) =>
    process.emit('warning', Object.assign(new Error(message), { name }) as Error)
  warn('ToolHubWarning', 'the server \u001b[2J is gone')
  warn('ToolHubWarning', 'the server \u001b[2J is gone')
  warn('DeprecationWarning', 'old')
  expect(said).toEqual(['warning: the server \\u{1b}[2J is gone\n'])
  expect(passed).toEqual(['old'])
})
