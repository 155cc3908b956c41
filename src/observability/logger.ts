import { Injectable, type LoggerService } from '@nestjs/common';
import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { LogLevel } from '../config/gateway-config.js';

const BUFFER_BYTES = 16_000;
const FLUSH_INTERVAL_MS = 500;

/** Paths whose values are secrets, wherever an object is logged. */
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
/** Anything shaped like one of our keys, in any text. */
const KEY_SHAPE = /sk-[0-9A-Za-z_-]{16,}/g;
/** Credentials inside a URL, with or without a user, a password that holds an `@` too. */
const URL_CREDENTIALS = /:\/\/[^\s/]+@/g;

/** Removes keys and URL credentials from free text such as the message of an unexpected error. */
export function redactText(text: string): string {
  return text.replace(KEY_SHAPE, 'sk-[redacted]').replace(URL_CREDENTIALS, '://[redacted]@');
}

/** An error as it may be logged: name, redacted message and stack, and its causes; no other properties. */
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

/** Makes the process's logger: JSON lines, buffered for speed; pretty lines on a terminal. */
export function makeLogger(level: LogLevel, pretty: boolean): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    redact: { paths: REDACTED, censor: '[redacted]' },
    serializers: { err: (error: unknown) => loggableError(error) },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (pretty) {
    const format = prettyFactory({ colorize: true, singleLine: true, ignore: 'pid,hostname' });
    return pino(options, { write: (line: string) => process.stdout.write(format(line)) });
  }
  return pino(
    options,
    destination({
      dest: 1,
      sync: false,
      minLength: BUFFER_BYTES,
      periodicFlush: FLUSH_INTERVAL_MS,
    }),
  );
}

/** Nest's own messages, through the same logger. */
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
    this.logger.error({ context: rest.at(-1) }, redactText(String(message)));
  }
  fatal(message: unknown, context?: unknown): void {
    this.logger.fatal({ context }, redactText(String(message)));
  }
}

/** Injection token of the process's pino logger. */
export const LOGGER = Symbol('LOGGER');
