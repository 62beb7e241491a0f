import { runCli } from './service-process.mjs'

/** No record was changed, none is missing. */
export async function auditVerify(checks, folder) {
  const { code, stdout, stderr } = await runCli(folder, ['audit', 'verify', '--json'])
  const reports = stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const calls = reports.reduce((sum, report) => sum + report.calls, 0)
  const broken = reports.find(({ ok }) => !ok)
  checks.that(
    `audit verify is clean: ${reports.length} runs, ${calls} calls`,
    code === 0 && reports.length > 0 && !broken,
    code === 0 && !broken ? '' : `exit code ${code}, ${JSON.stringify(broken)} ${stderr}`,
  )
}
