import type { Readable } from 'node:stream';
import type { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { ClientLeft, DeadlinePassed } from '../billing/calls/call-errors.js';
import { ProviderError } from '../providers/http/provider-error.js';
import {
  type ChatEvent,
  type ChatStream,
  PartsEvent,
  type TokenUsage,
} from '../providers/ports/chat.port.js';
import { UnusableAnswer } from '../providers/ports/unusable-answer.js';
import type { GeneratedTextBuffer } from './generated-text.js';
import type { StreamFace } from './text-face.js';

/** A client that made the provider wait for this long in total may be the reason why the provider disconnects. */
const SLOW_MS = 1_000;
/** Where only the usage is missing when a client leaves, it is awaited for this long (decision G-24). */
const USAGE_WAIT_MS = 5_000;
/** After this long without back-pressure the client has caught up; a later provider disconnect is not blamed on it. */
const CAUGHT_UP_MS = 3_000;

/** Forwards the events of one stream to the face of its client and records the usage to charge. */
export class StreamRelay {
  /** The last usage that the provider reported; null if more text came after it. */
  usage: TokenUsage | null = null;
  /** What the provider told of the prompt before the answer, in an event of parts; null if it did not. */
  toldPrompt: TokenUsage | null = null;
  /** Whether the model has sent its finish reason. Only the usage follows it. */
  isFinished = false;
  /** Whether the vendor speaks the protocol of the face. */
  isNative = false;
  private source: Readable | undefined;
  private readonly backpressure = new BackpressureClock();

  constructor(
    private readonly events: Pick<SseWriter, 'isGone' | 'isClientGone' | 'cut'>,
    private readonly face: Pick<StreamFace, 'forward'>,
    private readonly generated: GeneratedTextBuffer,
  ) {}

  /**
   * Forwards events until the provider has finished or the client has disconnected. Resolves with false when the
   * deadline of the call passed after the client had disconnected and before the provider reported a usage. Rejects
   * with any other error that broke the stream; a disconnect of the client is not an error. A slow client is
   * disconnected if the provider closes its connection meanwhile, and is charged as if it had disconnected by itself.
   * `fault` makes the error for a response that cannot be used.
   */
  run(source: Readable, fault: ChatStream['unusable']): Promise<boolean> {
    this.source = source;
    // Listeners keep no event while the client receives it. An async iterator would, and costs more.
    return new Promise((resolve, reject) => {
      const broken = (error: Error): void => {
        // The error decides, not the state of the client's socket, because the first event counts.
        if (error instanceof ClientLeft) resolve(true);
        else if (error instanceof DeadlinePassed && this.events.isClientGone) {
          // What was made is charged; a part of an answer is not kept.
          this.events.cut();
          resolve(this.hasOutput);
        }
        // Only its usage was awaited: the client has left, and pays what was made.
        else if (this.isFinished && this.events.isClientGone) resolve(true);
        else if (hasLostConnection(error) && this.backpressure.isSlow(performance.now())) {
          this.events.cut();
          resolve(true);
        } else reject(error);
      };
      const closed = (): void => {
        if (source.readableEnded) resolve(true);
        else broken(source.errored ?? new Error('the stream of events ended early'));
      };
      source.on('error', broken);
      if (source.closed) closed();
      else source.on('close', closed);
      source.on('data', (event: ChatEvent) => {
        this.forwardAndPause(source, event, fault);
      });
    });
  }

  /**
   * Ends the work of the provider for a client that leaves: `abort` is called at once or, where only the usage is missing, once it
   * has not come in time. Events that have arrived but were not forwarded are counted, because the provider bills them.
   */
  leave(abort: () => void, waitMs = USAGE_WAIT_MS): void {
    // Each `read()` calls the `data` listener with one event.
    while (this.source?.read()) continue;
    if (!this.isFinished || this.hasOutput || this.source === undefined || this.source.closed) {
      abort();
      return;
    }
    const late = setTimeout(abort, waitMs).unref();
    this.source.once('close', () => {
      clearTimeout(late);
    });
  }

  /** Whether the output was reported. A report of the prompt alone tells nothing of what was thought unseen. */
  private get hasOutput(): boolean {
    return (this.usage?.completionTokens ?? 0) > 0;
  }

  private record(event: ChatEvent): void {
    const { texts, hasFinish, usage, native } = event;
    if (native !== null) this.isNative = true;
    if (usage?.completionTokens === 0 && event instanceof PartsEvent) this.toldPrompt ??= usage;
    if (hasFinish) this.isFinished = true;
    if (texts.length > 0) {
      this.generated.push(texts);
      this.usage = null;
    }
    // The last report counts, except a report of zeros after a real one.
    if (usage && (usage.completionTokens > 0 || this.usage === null)) this.usage = usage;
  }

  /** An error destroys the stream, because nothing else would handle an error thrown in a listener. */
  private forwardAndPause(source: Readable, event: ChatEvent, fault: ChatStream['unusable']): void {
    try {
      const sent = this.forward(event);
      if (sent === undefined) return;
      source.pause();
      this.backpressure.begin(performance.now());
      void sent.then(() => {
        this.backpressure.end(performance.now());
        source.resume();
      });
    } catch (error) {
      if (error instanceof UnusableAnswer) source.destroy(fault(error.code));
      else source.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Returns a promise if the next event has to wait for the client. */
  private forward(event: ChatEvent): Promise<void> | undefined {
    this.record(event);
    // A call with hidden reasoning continues without a client. Writing large events for nobody costs more CPU than
    // reading them.
    return this.events.isGone ? undefined : this.face.forward(event);
  }
}

/**
 * Whether the provider closed the connection without reporting an error. A provider that reports an error or sends
 * nothing while it is read does not do so because its client is slow.
 */
function hasLostConnection(error: Error): boolean {
  if (!(error instanceof ProviderError) || error.kind === 'timeout') return false;
  return error.upstreamStatus === undefined;
}

/**
 * Measures how long the client of a stream has made its provider wait since the client last caught up. Times are
 * monotonic milliseconds.
 */
class BackpressureClock {
  private sinceMs: number | undefined;
  private untilMs = 0;
  private waitedMs = 0;

  begin(nowMs: number): void {
    if (this.hasCaughtUp(nowMs)) this.waitedMs = 0;
    this.sinceMs = nowMs;
  }

  end(nowMs: number): void {
    this.waitedMs += nowMs - (this.sinceMs ?? nowMs);
    this.untilMs = nowMs;
    this.sinceMs = undefined;
  }

  /**
   * Whether the client is the likely reason of a disconnect that is seen now. The disconnect is seen only after the
   * client has received the data that arrived before it.
   */
  isSlow(nowMs: number): boolean {
    if (this.sinceMs === undefined && this.hasCaughtUp(nowMs)) return false;
    return this.waitedMs + nowMs - (this.sinceMs ?? nowMs) >= SLOW_MS;
  }

  private hasCaughtUp(nowMs: number): boolean {
    return nowMs - this.untilMs >= CAUGHT_UP_MS;
  }
}
