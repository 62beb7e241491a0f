import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import type { VerifyReport } from '../../record/verify-run.ts'
import { verifyRun } from '../../record/verify-run.ts'
import type { ApprovalReply, ApprovalRequest, ToolResult } from '../../result.ts'
import { withHubOf } from '../hub/with-hub.ts'
import { demoConfig } from './demo-config.ts'
import { DEMO_TOOLS } from './demo-tools.ts'
import { serveLocalPage } from './local-page.ts'
import { runScriptedAgent, type Step } from './scripted-agent.ts'

/** What the demo leaves behind. */
export interface DemoOutcome {
  /** The folder with tool-hub.yaml, tools.mjs, workspace/ and runs/. */
  readonly folder: string
  readonly runFolder: string
  readonly verified: VerifyReport
}

/** Runs the agent in a folder of its own, with a real config, a real page, a real record. Throws when stopped. */
export async function runDemo(talk: {
  readonly signal: AbortSignal
  readonly onCall: (step: Step, result: ToolResult) => Promise<void>
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalReply>
}): Promise<DemoOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-demo-'))
  const page = await serveLocalPage()
  try {
    mkdirSync(join(folder, 'workspace'))
    writeFileSync(join(folder, 'tools.mjs'), DEMO_TOOLS)
    writeFileSync(join(folder, 'tool-hub.yaml'), demoConfig(page.url))
    const { options } = await loadConfig({ cwd: folder })
    const own = { approve: talk.approve, caller: 'scripted agent' }
    const run = await withHubOf({ ...options, ...own }, async (hub) => {
      await runScriptedAgent(hub, page.url, talk)
      return hub.run
    })
    const runFolder = join(folder, 'runs', run)
    return { folder, runFolder, verified: await verifyRun(runFolder) }
  } finally {
    page.close()
  }
}
