import { type Logger, pino } from 'pino';

/** How the log of a gateway begins such a line (`src/platform/observability/logger.ts`). */
const FATAL = '{"level":"fatal",';

/** The lines of level fatal in the log of a gateway: errors that nothing handled, which are always defects. */
export function fatalLinesOf(log: string): string[] {
  return log.split('\n').filter((line) => isFatal(line));
}

/** A logger that keeps nothing but its fatal lines. */
export function fatalLogger(): { readonly logger: Logger; readonly fatal: readonly string[] } {
  const fatal: string[] = [];
  const logger = pino({ level: 'fatal' }, { write: (line: string) => fatal.push(line.trim()) });
  return { logger, fatal };
}

/** Throws if there are any. */
export function refuseFatal(lines: readonly string[]): void {
  if (lines.length === 0) return;
  throw new Error(`the log has ${lines.length} fatal lines:\n${lines.slice(0, 5).join('\n')}`);
}

function isFatal(line: string): boolean {
  // The last line of a process that was killed may be torn.
  return line.startsWith(FATAL) && line.endsWith('}');
}
