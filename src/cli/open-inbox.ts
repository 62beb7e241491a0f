import { join, resolve } from 'node:path'
import { Inbox } from '../approval/inbox.ts'
import { type HubFlags, readConfig } from './open-hub.ts'

/** The folder where hubs of other processes lay their questions. */
export async function openInbox(flags: Pick<HubFlags, 'config'>): Promise<Inbox> {
  const { options } = await readConfig(flags)
  return new Inbox(join(resolve(options.data ?? '.tool-hub'), 'approvals'))
}
