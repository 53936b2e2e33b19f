import { readdir, readFile } from 'node:fs/promises'

const tickMs = 10

/** User and system CPU time of a process and its descendants since their start; Linux only. */
export async function cpuMsOf(root: number): Promise<number> {
  const processes = new Map<number, { parent: number; ms: number }>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const text = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null)
    if (text === null) continue
    // The program's name may contain any character; after it come state, parent, ...
    const rest = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [userTicks, systemTicks] = [Number(rest[11]), Number(rest[12])]
    processes.set(Number(name), { parent: Number(rest[1]), ms: (userTicks + systemTicks) * tickMs })
  }
  const isBelow = (pid: number): boolean => {
    for (
      let current: number | undefined = pid;
      current !== undefined;
      current = processes.get(current)?.parent
    )
      if (current === root) return true
    return false
  }
  return [...processes].reduce((sum, [pid, { ms }]) => sum + (isBelow(pid) ? ms : 0), 0)
}
