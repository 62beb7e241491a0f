import { type HubOptions, ToolError } from '../../core/index.ts'
import { chooseSandbox, findChromium, loadPlaywright } from '../../features/browser/index.ts'
import type { DoctorFinding } from './doctor-examine.ts'

const HOW = {
  own: "in Chromium's own sandbox",
  jail: 'inside the sandbox of commands',
  none: 'without any sandbox',
} as const

/** Which browser agents would use, and how it would be kept from the machine. Without one, only those tools fail. */
export async function examineBrowser({ browser = {} }: Pick<HubOptions, 'browser'>): Promise<DoctorFinding> {
  try {
    const executable = await findChromium(browser, await loadPlaywright())
    const { sandbox, why } = await chooseSandbox(executable, browser.sandbox)
    const detail = `${executable}, ${HOW[sandbox]}: ${why}`
    if (sandbox !== 'none') return { state: 'good', what: 'browser', detail }
    return { state: 'weak', what: 'browser', detail, fix: 'Leave browser.sandbox out, or set it to jail.' }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { state: 'weak', what: 'browser', detail: error.message, fix: error.fix.hint }
  }
}
