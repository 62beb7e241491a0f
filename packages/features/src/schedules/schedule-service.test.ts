import { afterEach, describe, expect, it, vi } from 'vitest'
import { bareSchedules, MINUTE, noting, START } from '../../../../test/support/bare-schedules.ts'

afterEach(() => vi.restoreAllMocks())

describe('the owner of schedules', () => {
  it('sees a new one as it is, and its changes are on record', async () => {
    const { service, recorded } = bareSchedules()
    const added = await service.add(noting({ until: '2027-01-01T00:00' }), { by: 'ada' })
    expect(added).toEqual({
      ...{ id: expect.stringMatching(/^schedule-[0-9a-f]{16}$/), name: 'job', when: { everyMs: 10 * MINUTE } },
      ...{ timeZone: 'UTC', calls: [{ tool: 'note' }], continueOnError: false, missed: 'once', overlap: 'skip' },
      ...{ jitterMs: 0, timeoutMs: 3_600_000, until: '2027-01-01T00:00:00.000Z', enabled: true, isFromConfig: false },
      ...{ createdAt: START, createdBy: { by: 'ada', tainted: false }, nextAt: START + 10 * MINUTE, runs: 0 },
    })
    await service.update('job', { maxRuns: 5 })
    await service.run('job')
    await service.remove('job', { by: 'ada' })
    expect(recorded).toEqual([
      { by: 'ada', change: 'schedule-saved', subject: 'job' },
      { by: 'owner', change: 'schedule-saved', subject: 'job' },
      { by: 'owner', change: 'schedule-run', subject: 'job' },
      { by: 'ada', change: 'schedule-removed', subject: 'job' },
    ])
  })

  it('learns how they do', async () => {
    const { service, feature } = bareSchedules()
    expect(await service.status()).toEqual({
      ...{ isTicking: false, isTickingHere: false, schedules: 0, enabled: 0, running: 0, waiting: 0, problems: [] },
    })
    await service.add(noting({ name: 'later', when: { every: '20m' } }))
    await service.add(noting({ name: 'sooner' }))
    await service.add(noting({ name: 'off', when: { every: '1m' }, enabled: false }))
    await service.start()
    expect(await service.status()).toEqual({
      ...{ isTicking: true, isTickingHere: true, schedules: 3, enabled: 2, nextAt: START + 10 * MINUTE },
      ...{ running: 0, waiting: 0, problems: [] },
    })
    await feature.close()
  })

  it('is shown the next times: five without a count, a hundred at most', async () => {
    const { service } = bareSchedules()
    const count = async (wish?: { count?: number }, when: object = { every: '1m' }) =>
      (await service.next(when as never, wish)).times.length
    expect(await service.next({ every: '1m' }, { count: 2 })).toEqual({
      timeZone: 'UTC',
      times: [START + MINUTE, START + 2 * MINUTE],
    })
    expect(await count()).toBe(5)
    expect(await count({ count: 100 })).toBe(100)
    expect(await count({ count: 101 })).toBe(100)
    expect(await count({}, { at: '2026-01-02T00:00' })).toBe(1)
  })

  it('reads what became of one in pages: 20 runs without a limit, 500 at most', async () => {
    const { service, store } = bareSchedules({ keep: 1_000 })
    const { id } = await service.add(noting())
    const run = { schedule: id, dueAt: START, missed: 0, owner: 'x', leasedUntil: START, status: 'waiting' as const }
    for (let n = 0; n < 501; n++)
      await store.schedules.addRun({ ...run, id: `r${n}` }, { policy: 'parallel', maxActive: 999 })
    const page = async (wish?: { limit?: number; before?: number }) => {
      const { runs, next } = await service.runs('job', wish)
      return [runs.length, runs.at(-1)!.id, next === runs.at(-1)!.seq]
    }
    expect(await page()).toEqual([20, 'r481', true])
    expect(await page({ limit: 0 })).toEqual([1, 'r500', true])
    expect(await page({ limit: 999 })).toEqual([500, 'r1', true])
    const { next } = await service.runs('job', { limit: 500 })
    expect(await page({ limit: 1, before: next })).toEqual([1, 'r0', false])
    expect((await service.runs('job', { limit: 1 })).runs[0]).not.toHaveProperty('owner')
  })

  it('gets an error for an unknown name, or for one that several principals use', async () => {
    const { service, host } = bareSchedules()
    const add = (name: string) => service.add(noting(), { as: { name } })
    await add('token:a')
    await expect(service.find('jop')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'Schedule "jop" not found.',
      fix: { hint: 'Did you mean job?' },
    })
    await expect(service.find('zzzzzz')).rejects.toMatchObject({
      fix: { hint: 'List the schedules to see their names.' },
    })
    expect((await service.find('job')).principal).toBe('token:a')
    await add('token:b')
    await expect(service.find('job')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'Several principals have a schedule job.',
      fix: { hint: 'Give its id.' },
    })
    await service.add(noting())
    expect(await service.find('job')).not.toHaveProperty('principal')
    expect(host.store).toBeDefined()
  })

  it('changes the calls of nobody else, and adds for nobody who may not call', async () => {
    const { service } = bareSchedules(
      {},
      { principalNow: ({ name }) => (name === 'token:gone' ? undefined : { name }) },
    )
    await service.add(noting(), { as: { name: 'token:a' } })
    const calls = [{ tool: 'other' }]
    await expect(service.update('job', { calls }, { as: { name: 'token:b' } })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'token:b does not own job and may not change its calls.',
      fix: { hint: 'Create your own schedule, or ask the owner.' },
    })
    expect(await service.update('job', { calls }, { as: { name: 'token:a' } })).toMatchObject({ calls })
    expect(await service.update('job', { maxRuns: 2 }, { as: { name: 'token:b' } })).toMatchObject({ maxRuns: 2 })
    await expect(service.add(noting(), { as: { name: 'token:gone' } })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
      message: 'token:gone may not make calls, so it cannot schedule them.',
      fix: { hint: 'Use a token with the scope call.' },
    })
  })

  it('runs one beside its times, once at a time', async () => {
    const { service, hold, release, called } = bareSchedules()
    await service.add(noting({ enabled: false }))
    hold()
    expect(await service.run('job', { wait: false })).toMatchObject({ missed: 0, dueAt: START })
    await expect(service.run('job')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'job is running already.',
      fix: { hint: 'Wait for it to end, or set overlap to queue or parallel.' },
    })
    release()
    await expect.poll(async () => (await service.runs('job')).runs.at(-1)?.status).toBe('ok')
    expect(called).toMatchObject([
      { tool: 'note', run: expect.stringMatching(/^cron-job-20260101-000000-[0-9a-f]{6}$/) },
    ])
    const stop = new AbortController()
    hold()
    const waiting = service.run('job', { signal: stop.signal })
    waiting.catch(() => {})
    await expect.poll(() => called.length).toBe(2)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    release()
  })

  it('adds up to 100, or as many as the options say; those of the config do not count', async () => {
    const limits = async (options: object) => {
      const { service, store } = bareSchedules({ ...options, entries: { a: noting() } })
      const asked: number[] = []
      store.schedules.add = async (_, { most }) => void asked.push(most)
      await service.add(noting())
      await service.start()
      await service.stop()
      return asked
    }
    expect(await limits({})).toEqual([100, Number.MAX_SAFE_INTEGER])
    expect(await limits({ most: 3 })).toEqual([3, Number.MAX_SAFE_INTEGER])
  })

  it('tries a change five times against others that are faster', async () => {
    const { service, store } = bareSchedules()
    await service.add(noting())
    let tries = 0
    store.schedules.save = async () => {
      tries++
      return false
    }
    await expect(service.update('job', { maxRuns: 2 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The schedule was changed by others at the same time.',
      retryable: true,
    })
    expect(tries).toBe(5)
  })

  it('puts a time off by up to the whole jitter', async () => {
    const { service } = bareSchedules()
    vi.spyOn(Math, 'random').mockReturnValue(0.999_999)
    expect((await service.add(noting({ jitterMs: 1_000 }))).nextAt).toBe(START + 10 * MINUTE + 1_000)
    vi.spyOn(Math, 'random').mockReturnValue(0)
    expect((await service.add(noting({ name: 'other', jitterMs: 1_000 }))).nextAt).toBe(START + 10 * MINUTE)
  })

  it('changes something else than the times of one without moving them', async () => {
    const { service, clock } = bareSchedules()
    vi.spyOn(Math, 'random').mockReturnValue(0)
    await service.add(noting({ jitterMs: 1_000 }))
    vi.spyOn(Math, 'random').mockReturnValue(0.999_999)
    await clock.advance(15 * MINUTE)
    expect((await service.update('job', { maxRuns: 5 })).nextAt).toBe(START + 10 * MINUTE)
    expect(await service.update('job', { enabled: false })).not.toHaveProperty('nextAt')
    expect((await service.update('job', { enabled: true })).nextAt).toBe(START + 20 * MINUTE + 1_000)
    expect((await service.update('job', { when: { every: '1h' } })).nextAt).toBe(START + 75 * MINUTE + 1_000)
    expect((await service.update('job', { until: '2026-01-01T02:00' })).nextAt).toBe(START + 75 * MINUTE + 1_000)
    await expect(service.update('job', { enabled: true, maxRuns: 1, until: '2026-01-01T01:00' })).rejects.toThrow(
      'never run',
    )
  })

  it('uses no name that rules have for wake-ups, and changes nothing of the config', async () => {
    const { service, handle } = bareSchedules({ entries: { wake: noting(), a: noting() } })
    await expect(service.add(noting({ name: 'wake' }))).rejects.toMatchObject({
      message: 'The name wake is reserved for wake-ups.',
      fix: { hint: 'Choose another name.' },
    })
    await service.start()
    expect((await service.list()).map(({ name }) => name)).toEqual(['config:a', 'config:wake'])
    await expect(service.remove('config:a')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'config:a is defined in the config.',
      fix: { hint: 'Change schedules.entries.a in tool-hub.yaml, and restart.' },
    })
    for (const change of [() => handle().update('config:a', { maxRuns: 1 }), () => handle().remove('config:a')])
      await expect(change()).rejects.toThrow('config:a is defined in the config.')
    await expect(service.update('config:a', { maxRuns: 1 })).rejects.toThrow('config:a is defined in the config.')
    await service.stop()
  })
})

describe('a call that uses schedules', () => {
  it('is warned when nothing runs them', async () => {
    const { service, handle, notices } = bareSchedules()
    await handle().add(noting())
    expect(notices).toEqual([
      'No process runs schedules: start tool-hub serve, tool-hub cron start or hub.schedules.start().',
    ])
    await service.start()
    await handle().update('job', { maxRuns: 2 })
    expect(notices).toHaveLength(1)
    await service.stop()
  })

  it('waits 50 s for a run, or until it is stopped, and not for ever', async () => {
    const { handle, clock, hold, release, called } = bareSchedules()
    await handle().add(noting({ overlap: 'parallel' }))
    hold()
    let isOver = false
    const running = handle()
      .run('job')
      .finally(() => {
        isOver = true
      })
    await expect.poll(() => called.length).toBe(1)
    await clock.advance(49_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(await running).toMatchObject({ status: 'running' })
    let stop = () => {}
    const stopped = handle({
      onStop: (listener) => {
        stop = listener
        return () => {}
      },
    }).run('job')
    await expect.poll(() => called.length).toBe(2)
    stop()
    expect(await stopped).toMatchObject({ status: 'running' })
    release()
  })

  it('of a schedule runs no schedule', async () => {
    const { handle, hold, release, called } = bareSchedules()
    await handle().add(noting())
    hold()
    const first = handle().run('job')
    await expect.poll(() => called.length).toBe(1)
    await expect(handle({ run: called[0]!.run! }).run('job')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'A schedule cannot run other schedules.',
      fix: { hint: 'Add the calls to its own list.' },
    })
    release()
    expect(await first).toMatchObject({ status: 'ok' })
  })

  it('that sees what one from outside made has read content from outside', async () => {
    const { handle, marks } = bareSchedules()
    await handle().add(noting({ name: 'clean' }))
    await handle().find('clean')
    expect(marks).toEqual([])
    const added = await handle({ isTainted: true }).add(noting())
    expect(added.createdBy).toEqual({ by: 'me', callId: 'c1', run: 'r1', tainted: true })
    const counts = [marks.length]
    for (const look of [
      () => handle().find('job'),
      () => handle().list(),
      () => handle().run('job'),
      () => handle().runs('job'),
      () => handle().remove('job'),
    ]) {
      await look()
      counts.push(marks.length)
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6])
    expect(await handle().status()).toMatchObject({ schedules: 1, problems: [] })
  })
})
