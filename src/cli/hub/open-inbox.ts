import { join, resolve } from 'node:path'
import { Inbox } from '../../approval/inbox.ts'
import { readConfig } from './read-config.ts'

/** The folder where hubs of other processes lay their questions. */
export async function openInbox(flags: { readonly config?: string }): Promise<Inbox> {
  const { options } = await readConfig(flags)
  return new Inbox(join(resolve(options.data ?? '.tool-hub'), 'approvals'))
}
