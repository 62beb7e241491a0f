import { resolve } from 'node:path'
import type { TokenRegister } from '../../serve/auth/create-token-register.ts'
import { readConfig } from '../hub/read-config.ts'

/** Works with the tokens of the data folder that the config names, whether a server uses it at the time or not. */
export async function withTokens<T>(
  flags: { readonly config?: string },
  use: (tokens: TokenRegister) => Promise<T>,
): Promise<T> {
  const { options } = await readConfig({ ...flags, plugins: false })
  const { openStore } = await import('../../store/sqlite/open-store.ts')
  const { createTokenRegister } = await import('../../serve/auth/create-token-register.ts')
  const store = openStore(resolve(options.data ?? '.tool-hub'))
  try {
    return await use(createTokenRegister({ store }))
  } finally {
    await store.close()
  }
}
