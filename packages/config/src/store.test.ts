import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStoreOf } from '@tool-hub/library/stores'
import { secretsOf } from '@tool-hub/runtime/hub'
import { storePlace } from '@tool-hub/runtime/store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-store-'))
  vi.stubEnv('STORE_TEST_PASSWORD', 'p@ss/w#rd')
  vi.stubEnv('STORE_TEST_URL', 'postgres://hub:p%40ss@db.example.org:6432/hub')
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function load(text: string) {
  await writeFile(path.join(folder, 'tool-hub.yaml'), text)
  return loadConfig({ cwd: folder })
}

describe('store in a config', () => {
  it('is a URL, whose references are filled in and encoded', async () => {
    const { options, warnings } = await load('store: "postgres://hub:${env:STORE_TEST_PASSWORD}@db.example.org/hub"\n')
    expect(options.database).toEqual({ url: 'postgres://hub:p%40ss%2Fw%23rd@db.example.org/hub' })
    expect(warnings).toEqual([])
    expect((await load('store: ${env:STORE_TEST_URL}\n')).options.database).toEqual({
      url: 'postgres://hub:p%40ss@db.example.org:6432/hub',
    })
    const secret = 'secrets: { db: { env: STORE_TEST_PASSWORD, hosts: [db.example.org] } }\n'
    expect((await load(`${secret}store: "postgres://hub:\${secret:db}@db/hub"\n`)).options.database?.url).toContain(
      'p%40',
    )
  })

  it('is a URL of a socket, also without a host', async () => {
    for (const url of ['postgres://hub@/hub?host=/run/pg', 'postgres:///hub?host=/run/pg']) {
      const { options } = await load(`store: "${url}"\n`)
      expect(storePlace(options)).toBe('/run/pg:5432/hub (schema tool_hub)')
      expect(secretsOf(options).values).toEqual([])
    }
    const secret = await load('store: "postgres://hub:${env:STORE_TEST_PASSWORD}@/hub?host=/run/pg"\n')
    expect(secretsOf(secret.options).values).toContain('p@ss/w#rd')
  })

  it('is a mapping with schema, connections, TLS and a time limit', async () => {
    await writeFile(path.join(folder, 'ca.pem'), 'CERTIFICATE')
    const { options } = await load(`store:
  url: \${env:STORE_TEST_URL}
  schema: hub_a
  pool: 4
  tls: { ca: ./ca.pem, servername: db }
  statementTimeout: 3s
`)
    expect(options.database).toEqual({
      url: 'postgres://hub:p%40ss@db.example.org:6432/hub',
      schema: 'hub_a',
      pool: 4,
      tls: { ca: 'CERTIFICATE', servername: 'db' },
      statementTimeoutMs: 3_000,
    })
    const plain = await load('store: { url: "postgres://db/hub", tls: false }\n')
    expect(plain.options.database?.tls).toBe(false)
  })

  it.each([
    ['store: ./data\n', /^Write postgres:/],
    ['store: "postgres://u:${env:STORE_TEST_UNSET}@db/hub"\n', /^Set it/],
  ])('is refused with what to write: %s', async (text, hint) => {
    await expect(load(text)).rejects.toMatchObject({ fix: { hint: expect.stringMatching(hint) } })
  })

  it.each([
    ['store: ./data\n', 'tool-hub.yaml:1:8 store: store is not a URL of a PostgreSQL database'],
    ['store: mysql://root:topsecret@db/hub\n', 'store is not a URL of a PostgreSQL database'],
    ['store: "postgres://u:topsecret@db:port/hub"\n', 'store is not a URL of a PostgreSQL database'],
    ['store: "postgres://u:${env:STORE_TEST_UNSET}@db/hub"\n', 'needs the environment variable STORE_TEST_UNSET'],
    ['store: { url: "postgres://db/hub", tls: { ca: ./missing.pem } }\n', 'store.tls.ca: cannot be read'],
    ['store: { url: "postgres://db/hub", pool: 0 }\n', 'store.pool: must be at least 2'],
    ['store: { host: db }\n', 'unknown key'],
  ])('is refused with its place, and never shown: %s', async (text, message) => {
    const error: Error = await load(text).then(
      () => expect.unreachable(),
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) })
    if (message.includes('is not a URL'))
      expect(error).toMatchObject({ fix: { hint: expect.stringContaining('postgres://USER:${env:DB_PASSWORD}@HOST') } })
    expect(error.message).not.toContain('topsecret')
  })

  it.each(['hub', '${env:DB_USER}'])('is warned about if it holds a password after the user %s', async (user) => {
    vi.stubEnv('DB_USER', 'hub').stubEnv('DB_PASSWORD', 'topsecret')
    const { warnings } = await load(`store: postgres://${user}:topsecret@db/hub\n`)
    expect(warnings).toEqual([expect.stringContaining('store: holds a password')])
    expect(warnings.join()).not.toContain('topsecret')
    expect((await load(`store: postgres://${user}:\${env:DB_PASSWORD}@db/hub\n`)).warnings).toEqual([])
    vi.unstubAllEnvs()
  })

  it('is redacted, and named without its password', async () => {
    const { options } = await load('store: "postgres://hub:${env:STORE_TEST_PASSWORD}@db.example.org/hub"\n')
    expect(secretsOf(options).values).toEqual(['p%40ss%2Fw%23rd', 'p@ss/w#rd'])
    expect(storePlace(options)).toBe('db.example.org:5432/hub (schema tool_hub)')
    expect(storePlace({ data: folder })).toBe(path.join(folder, 'store.db'))
  })

  it('is never ignored by a hub', async () => {
    const { options } = await load('store: "postgres://hub@127.0.0.1:1/hub"\n')
    expect(() => createToolHub(options)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        fix: { hint: expect.stringContaining('openStoreOf(options)') },
      }),
    )
    const store = openStoreOf(options)
    expect(store.location).toBe('network')
    await expect(store.check()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await store.close()
  })
})
