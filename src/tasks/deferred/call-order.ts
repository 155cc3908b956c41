import type { Readable } from 'node:stream';
import type { CostedRoute } from '../../catalog/route-cost.js';
import type { JsonObject } from '../../common/json-object.js';
import type { Quote } from '../../common/money/charge-basis.js';
import type { Operation, PortByOperation } from '../../providers/ports/provider-ports.js';
import type { AttemptContext } from '../../providers/ports/attempt.js';

/** What a call orders of a provider, once all of it is checked. */
export interface CallOrder<C extends object> {
  readonly quote: Quote;
  /** For the port of the provider: plain data, but for files on this machine. */
  readonly command: C;
  /** What else the answer is made with. */
  readonly shown?: JsonObject;
  /** The routes that can do what is ordered. Default: those of the call. */
  readonly routes?: readonly CostedRoute[] | undefined;
  /** The prices of 1, 2, … pieces of the result, where only what was made is charged. Default: the quote. */
  readonly quotes?: readonly Quote[];
}

/** Checks a call, and runs the work with what it orders. The files of the order exist as long as the work runs. */
export type Ordered<C extends object> = <T>(
  work: (order: CallOrder<C>) => Promise<T>,
) => Promise<T>;

/** A call of a provider, in a task. */
export interface DeferredRun<O extends Operation, C extends object> {
  readonly command: C;
  readonly shown: JsonObject;
  readonly accountId: string;
  readonly provider: string;
  /** Aborts at the deadline of a call, at shutdown, and when another process has taken over. */
  readonly signal: AbortSignal;
  /** Asks the provider, once. */
  readonly attempt: <T>(
    work: (port: PortByOperation[O], context: AttemptContext) => Promise<T>,
  ) => Promise<T>;
}

/** The answer of a call as a file. */
export interface MadeFile {
  readonly body: Readable | Buffer;
  readonly contentType: string;
  /** Whether it is words, which are sealed where they are stored. */
  readonly isWords?: boolean;
  /** Ending of its name, such as `mp3`. */
  readonly extension: string;
  /** The provider's id of the request, by which its bill names it. */
  readonly providerRequestId: string | null;
  /** How many pieces of the result there are, where that decides the charge. */
  readonly pieces?: number;
}

/** An operation whose calls may become tasks. Its name is that of the kind of task. */
export interface DeferredWork<O extends Operation = Operation, C extends object = object> {
  readonly operation: O;
  readonly modality: 'audio' | 'image';
  /** Makes the answer, as for a synchronous call. */
  make(run: DeferredRun<O, C>): Promise<MadeFile>;
}
