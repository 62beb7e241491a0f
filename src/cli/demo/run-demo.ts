import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../config/load-config.ts'
import { createToolHub } from '../../create-tool-hub.ts'
import type { Hub } from '../../hub.ts'
import type { VerifyReport } from '../../record/verify-run.ts'
import { verifyRun } from '../../record/verify-run.ts'
import type { ApprovalReply, ApprovalRequest, ToolResult } from '../../result.ts'
import { demoConfig } from './demo-config.ts'
import { serveLocalPage } from './local-page.ts'
import { runScriptedAgent, type Step } from './scripted-agent.ts'
import { fetchPage, writeReport } from './tools.ts'

/** What the demo leaves behind. */
export interface DemoOutcome {
  /** The folder with tool-hub.yaml, workspace/ and runs/. */
  readonly folder: string
  readonly runFolder: string
  readonly verified: VerifyReport
}

/** Runs the agent in a folder of its own, with a real config, a real page, a real record. */
export async function runDemo(talk: {
  readonly onCall: (step: Step, result: ToolResult) => Promise<void>
  readonly approve: (request: ApprovalRequest) => Promise<ApprovalReply>
}): Promise<DemoOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-demo-'))
  const page = await serveLocalPage()
  try {
    mkdirSync(join(folder, 'workspace'))
    writeFileSync(join(folder, 'tool-hub.yaml'), demoConfig(page.url))
    const { options } = await loadConfig({ cwd: folder })
    const hub = createToolHub({
      ...options,
      tools: [fetchPage, writeReport],
      approve: talk.approve,
      caller: 'scripted agent',
    }) as unknown as Hub
    await runScriptedAgent(hub, page.url, talk.onCall)
    await hub.close()
    const runFolder = join(folder, 'runs', hub.run)
    return { folder, runFolder, verified: await verifyRun(runFolder) }
  } finally {
    page.close()
  }
}
