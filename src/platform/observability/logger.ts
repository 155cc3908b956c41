import { Injectable, type LoggerService } from '@nestjs/common';
import { destination, type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { printableText } from '../../common/validation/text-rule.js';
import { redactKeys, redactText } from '../../common/secrets/redact-text.js';
import type { LogLevel } from '../config/gateway-config.js';
import { prettyLog } from './pretty-log.js';

const BUFFER_BYTES = 16_000;
const FLUSH_INTERVAL_MS = 500;
/** Lines that cannot be written wait in memory; beyond this they are dropped. */
const MAX_WAITING_BYTES = 16_000_000;

/** Paths whose values are secret in every logged object. */
const REDACTED = [
  'authorization',
  'cookie',
  'key',
  'apiKey',
  'webhook_secret',
  'webhookSecret',
  'password',
  'headers.authorization',
  'headers.cookie',
  'headers["xi-api-key"]',
];

/** Maximum characters of a text on a terminal. The gateway's own messages and stacks are shorter. */
const MAX_SHOWN_CHARACTERS = 4_000;

/** An error for the log: name, redacted message and stack, and its causes. Other properties are left out. */
export function loggableError(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...('code' in error && typeof error.code === 'string' && { code: error.code }),
    ...(error.cause !== undefined && depth < 3 && { cause: loggableError(error.cause, depth + 1) }),
  };
}

/**
 * Creates the logger of the process: JSON lines, buffered for speed; on a terminal pretty lines, where control
 * characters are shown as text and long texts are cut. No line holds a key, wherever it came from. Writes to standard
 * output, or to `out`.
 */
export function makeLogger(level: LogLevel, pretty: boolean, out?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: (error: unknown) => loggableError(error) },
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redactKeys },
  };
  return pino(options, pretty ? prettyLines(out ?? process.stdout) : (out ?? bufferedOutput()));
}

/** A full disk or a closed pipe only loses log lines. */
function bufferedOutput(): DestinationStream {
  const output = destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    maxLength: MAX_WAITING_BYTES,
  });
  let isFailing = false;
  output.on('error', () => (isFailing = true)).on('write', () => (isFailing = false));
  // At the end of the process, pino would retry the write for ever.
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (!isFailing) flushSync();
  };
  return output;
}

function prettyLines(out: DestinationStream): DestinationStream {
  const format = prettyFactory({
    colorize: true,
    singleLine: true,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
    errorLikeObjectKeys: ['err', 'cause'],
  });
  const printable = (name: string, value: unknown): unknown =>
    // Only a stack keeps its line breaks.
    typeof value === 'string'
      ? printableText(shortened(value), name === 'stack' ? '\n' : '')
      : value;
  return {
    write: (line) => {
      out.write(format(prettyLog(JSON.parse(line, printable) as Record<string, unknown>)));
    },
  };
}

function shortened(text: string): string {
  const left = text.length - MAX_SHOWN_CHARACTERS;
  return left > 0 ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}… and ${left} more characters` : text;
}

/** Nest both logs and throws these errors at the start. The start command prints them as one sentence. */
const THROWN_TOO: ReadonlySet<unknown> = new Set(['ExceptionHandler', 'NestApplication']);

/** Nest's own messages go through the same logger. */
@Injectable()
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, context?: unknown): void {
    this.logger.debug({ context }, String(message));
  }
  debug(message: unknown, context?: unknown): void {
    this.logger.trace({ context }, String(message));
  }
  verbose(message: unknown, context?: unknown): void {
    this.logger.trace({ context }, String(message));
  }
  warn(message: unknown, context?: unknown): void {
    this.logger.warn({ context }, redactText(String(message)));
  }
  error(message: unknown, ...rest: unknown[]): void {
    const context = rest.at(-1);
    const level = THROWN_TOO.has(context) ? 'debug' : 'error';
    this.logger[level]({ context }, redactText(String(message)));
  }
  fatal(message: unknown, context?: unknown): void {
    this.logger.fatal({ context }, redactText(String(message)));
  }
}

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('LOGGER');
