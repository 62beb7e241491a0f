import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@tool-hub/client'
import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../packages/config/src/load-config.ts'
import { readEvents } from '../packages/runtime/src/records/log/read-events.ts'
import { type RunningService, startService } from '../packages/server/src/start-service.ts'
import { eventually } from './support/eventually.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const services: RunningService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
})

const TOOL = 'core/util.time.now'
const DENY = `policy:\n  - { deny: ${TOOL}, reason: "not today" }\n`

/** A service whose config is a file that the test edits as a person would. */
async function start(config: string, name = 'tool-hub.yaml') {
  const home = temporaryFolder()
  const file = join(home, name)
  const edit = (text: string) => writeFileSync(file, text)
  edit(config)
  const problems: string[] = []
  const { options } = await loadConfig({ cwd: home, file })
  const onProblem = (message: string) => void problems.push(message)
  const service = await startService(options, { port: 0, shutdownMs: 1_000, configFile: file, onProblem })
  services.push(service)
  const owner = createClient({ url: service.url, token: service.token })
  const code = async () => {
    const result = await owner.call(TOOL, {})
    return result.ok ? 'ok' : result.error.code
  }
  return { home, file, edit, service, owner, code, problems }
}

async function changesIn(home: string, run: string): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const event of readEvents(join(home, 'runs', run))) if (event.type === 'hub-changed') found.push(event)
  return found
}

describe('a config that is edited while the service runs', () => {
  it('applies its rules, and puts the change on record', async () => {
    const { home, edit, service, owner, code } = await start('version: 1\n')
    expect(await code()).toBe('ok')
    expect((await owner.health()).config).toMatchObject({ file: expect.stringContaining('tool-hub.yaml') })
    edit(DENY)
    await eventually(async () => expect(await code()).toBe('POLICY_DENIED'))
    await eventually(async () =>
      expect(await changesIn(home, service.hub.run)).toMatchObject([
        { by: 'file', change: 'policy-saved', subject: expect.stringContaining('tool-hub.yaml') },
      ]),
    )
    edit('version: 1\n')
    await eventually(async () => expect(await code()).toBe('ok'))
  })

  it('is refused when it is not valid: the old rules hold, and everybody can see why', async () => {
    const { edit, service, owner, code, problems } = await start(DENY)
    edit('policy:\n  - { alow: "*" }\n')
    await eventually(async () => expect((await owner.health()).config?.problem).toContain('alow'))
    expect(await code()).toBe('POLICY_DENIED')
    expect(problems.join('\n')).toMatch(/tool-hub\.yaml .*refused; the rules from before the change hold.*alow/)
    const { warnings } = await owner.policy.get()
    expect(warnings).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('alow') }),
    )
    // Told once, however often it is looked at.
    const told = problems.length
    await service.reload()
    expect(problems).toHaveLength(told)
    edit('version: 1\n')
    await eventually(async () => expect(await code()).toBe('ok'))
    await eventually(async () => expect((await owner.health()).config).not.toHaveProperty('problem'))
  })

  it('says which sections take effect only after a restart', async () => {
    const { edit, owner, code, problems } = await start('version: 1\n')
    edit(`${DENY}sandbox: { network: [example.org] }\n`)
    await eventually(async () => expect((await owner.health()).config?.restart).toEqual(['sandbox']))
    expect(await code()).toBe('POLICY_DENIED')
    expect(problems.join('\n')).toMatch(/sandbox.*restart/)
  })

  it('keeps the rules when the file is gone, and reloads when told to', async () => {
    const { file, edit, service, code } = await start(DENY)
    rmSync(file)
    expect(await service.reload()).toMatchObject({ problem: expect.stringContaining('does not exist') })
    expect(await code()).toBe('POLICY_DENIED')
    edit('version: 1\n')
    expect(await service.reload()).not.toHaveProperty('problem')
    expect(await code()).toBe('ok')
  })

  it('follows the policy file that it names, and takes none that tools may write', async () => {
    const { home, edit, service, code } = await start('version: 1\n')
    const other = join(home, 'policy.yaml')
    writeFileSync(other, `tools:\n  default: deny\n`)
    edit('policy: ./policy.yaml\n')
    // The new file is not protected from tools before the next start.
    expect(await service.reload()).toMatchObject({ problem: expect.stringMatching(/policy\.yaml.*[Rr]estart/) })
    expect(await code()).toBe('ok')
    const { options } = await loadConfig({ cwd: home, file: join(home, 'tool-hub.yaml') })
    const second = await startService(
      { ...options, runs: join(home, 'runs2'), data: join(home, 'data2') },
      { port: 0, configFile: join(home, 'tool-hub.yaml') },
    )
    services.push(second)
    const call = () => second.hub.callDynamic(TOOL, {})
    expect(await call()).toMatchObject({ ok: false })
    writeFileSync(other, `tools:\n  default: allow\n`)
    await eventually(async () => expect(await call()).toMatchObject({ ok: true }))
  })

  it('does not take what the console has saved for a change by hand', async () => {
    const { home, service, owner } = await start('version: 1\n')
    const { version } = await owner.policy.get()
    await owner.policy.save({ yaml: DENY, version })
    await service.reload()
    expect(await changesIn(home, service.hub.run)).toMatchObject([{ by: 'owner', change: 'policy-saved' }])
  })
})

describe('a shadow policy that is edited while the service runs', () => {
  const CONFIG = `policy:\n  rules:\n    - { allow: ${TOOL} }\n  shadow: ./next.yaml\n`

  async function startWithShadow(next: string) {
    const home = temporaryFolder()
    const file = join(home, 'tool-hub.yaml')
    const shadow = join(home, 'next.yaml')
    writeFileSync(file, CONFIG)
    writeFileSync(shadow, next)
    const { options } = await loadConfig({ cwd: home, file })
    const onProblem = () => {}
    const service = await startService(options, { port: 0, shutdownMs: 1_000, configFile: file, onProblem })
    services.push(service)
    return { home, file, shadow, service, owner: createClient({ url: service.url, token: service.token }) }
  }

  it('is compared with every call from then on, and its differences can be read', async () => {
    const { home, file, shadow, service, owner } = await startWithShadow('- { allow: "*" }\n')
    expect((await owner.call(TOOL, {})).ok).toBe(true)
    expect(await owner.policy.shadow()).toMatchObject({ compared: 1, failed: 0, differences: [] })
    writeFileSync(shadow, `- { deny: ${TOOL} }\n`)
    await eventually(async () => expect(await owner.policy.shadow()).toMatchObject({ compared: 0 }))
    const result = await owner.call(TOOL, {})
    expect(result.ok).toBe(true)
    expect((await owner.policy.shadow())?.differences).toEqual([
      {
        tool: TOOL,
        effect: 'allow',
        shadowEffect: 'deny',
        count: 1,
        examples: [
          {
            run: expect.any(String),
            callId: result.callId,
            time: expect.any(String),
            rule: expect.stringMatching(/tool-hub\.yaml:3\)$/),
            shadowRule: expect.stringMatching(/next\.yaml:1\)$/),
          },
        ],
      },
    ])
    const headers = { authorization: `Bearer ${service.token}` }
    const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text()
    expect(metrics).toContain('tool_hub_shadow_differences_total{decision="allow",shadow="deny"} 1')
    expect(await changesIn(home, service.hub.run)).toMatchObject([{ by: 'file', change: 'shadow-policy-changed' }])
    writeFileSync(file, `policy:\n  - { allow: ${TOOL} }\n`)
    await eventually(async () => expect(await owner.policy.shadow()).toBeUndefined())
  })

  it('is refused when it is broken: the rules and the shadow policy from before hold', async () => {
    const { file, shadow, owner } = await startWithShadow(`- { ask: ${TOOL} }\n`)
    writeFileSync(file, CONFIG.replace('allow', 'deny'))
    writeFileSync(shadow, '- { alow: "*" }\n')
    await eventually(async () => expect((await owner.health()).config?.problem).toMatch(/next\.yaml:1.*alow/))
    expect((await owner.call(TOOL, {})).ok).toBe(true)
    expect((await owner.policy.shadow())?.differences).toMatchObject([{ effect: 'allow', shadowEffect: 'ask' }])
    writeFileSync(shadow, '- { deny: "*", on: "[" }\n')
    await eventually(async () => expect((await owner.health()).config?.problem).toMatch(/next\.yaml:1.*pattern/))
    expect((await owner.call(TOOL, {})).ok).toBe(true)
  })

  it('needs the scope read or admin', async () => {
    const { service, owner } = await startWithShadow('- { allow: "*" }\n')
    const { secret } = await owner.tokens.create({ name: 'ci', scopes: ['call'] })
    const ci = createClient({ url: service.url, token: secret })
    await expect(ci.policy.shadow()).rejects.toMatchObject({ status: 403 })
  })

  it('keeps its place when the rules are saved in the console, and is not replaced there', async () => {
    const { owner } = await startWithShadow('- { allow: "*" }\n')
    const { yaml, version } = await owner.policy.get()
    expect(yaml).toBe(CONFIG)
    const saved = await owner.policy.save({ yaml: yaml.replace('allow', 'deny'), version })
    expect(saved.yaml).toContain('shadow: ./next.yaml')
    expect((await owner.call(TOOL, {})).ok).toBe(false)
    for (const other of [`- { allow: ${TOOL} }\n`, CONFIG.replace('next', 'other')])
      await expect(owner.policy.save({ yaml: other, version: saved.version })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      })
    const named = 'policy: { rules: ./policy.yaml, shadow: ./next.yaml }\n'
    await expect(owner.policy.test({ yaml: named })).rejects.toThrow(/names a file/)
  })
})
