/** The home of every command in a jail: empty, in memory, and gone with it. */
export const JAIL_HOME = '/run/home'
