import { type DoctorFinding, ToolError } from '../../../core/index.ts'
import type { BrowserOptions } from '../types.ts'
import { findChromium, loadPlaywright } from './find-chromium.ts'
import { chooseSandbox } from './start-chromium.ts'

const HOW = {
  own: "in Chromium's own sandbox",
  jail: 'inside the sandbox of commands',
  none: 'without any sandbox',
} as const

/** Which browser agents would use, and how it would be kept from the machine. Without one, only those tools fail. */
export async function examineBrowser(options: BrowserOptions): Promise<DoctorFinding> {
  try {
    const executable = await findChromium(options, await loadPlaywright())
    const { sandbox, why } = await chooseSandbox(executable, options.sandbox)
    const detail = `${executable}, ${HOW[sandbox]}: ${why}`
    if (sandbox !== 'none') return { state: 'good', what: 'browser', detail }
    return { state: 'weak', what: 'browser', detail, fix: 'Leave browser.sandbox out, or set it to jail.' }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { state: 'weak', what: 'browser', detail: error.message, fix: error.fix.hint }
  }
}
