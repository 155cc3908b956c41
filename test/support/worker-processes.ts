import { readFileSync } from 'node:fs';

/** Processes that the gateway forked, as a Linux kernel lists them. */
export function workersOf({ pid }: { readonly pid: number }): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return children.map(Number).filter((child) => child > 0 && isNode(child));
  } catch {
    return [];
  }
}

/** Whether the process is a gateway's. */
export const isNode = (pid: number): boolean => commandOf(pid).includes('main.js');

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
