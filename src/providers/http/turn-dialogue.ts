import { GatewayError } from '../../common/errors/gateway-error.js';
import { codePointCount } from '../../common/validation/text-rule.js';
import type { AttemptContext, AttemptOwner } from '../ports/attempt.js';
import type {
  DialogueCommand,
  DialoguePort,
  ProviderAudio,
  SpeechPort,
} from '../ports/audio.port.js';
import { roomFor, SPEECH_HZ, speechBody } from './l16-speech.js';
import { ProviderError } from './provider-error.js';
import type { ProviderHttp } from './provider-http.js';

const TURNS_AT_ONCE = 4;
/** 23 minutes of raw speech. */
const MAX_RAW_BYTES = 64 * 1024 * 1024;
/** What of it a text may need at most, with its pauses. */
const MAX_SECONDS = 1_357;

/** A dialogue whose first turn has begun. */
interface BegunDialogue {
  readonly first: ProviderAudio;
  /** Asks for the turn with this index. */
  readonly begin: (index: number) => Promise<ProviderAudio>;
  /** Ends all requests. */
  readonly stop: AbortController;
}

/**
 * Dialogues at a provider that has speech alone. A single line is spoken as it is; of several, each is a request of its own for samples of 24 kHz, which are joined in
 * their order and encoded once: no file has a gap or the joint of two encoders, and it is as long as its turns together. The
 * first turn fails as speech does. The others are asked for once it has begun, so a later failure is one of a work that was done
 * in part.
 */
export class TurnDialogue implements DialoguePort {
  constructor(
    private readonly speech: SpeechPort,
    private readonly http: Pick<ProviderHttp, 'refusal' | 'unusableAnswer'>,
    /** How long a text may be spoken, where it can ask for pauses. */
    private readonly longestSecondsOf: (text: string) => number = () => 0,
  ) {}

  async speakDialogue(command: DialogueCommand, context: AttemptContext): Promise<ProviderAudio> {
    const { lines, format, ...settings } = command;
    const [only, ...more] = lines;
    if (only && more.length === 0)
      return this.speech.speak({ ...settings, ...only, format }, context);
    const seconds = lines.reduce((sum, { text }) => sum + this.longestSecondsOf(text), 0);
    // Before anything is made: what is too long is made and billed, and cannot be charged.
    if (seconds > MAX_SECONDS) throw this.http.refusal('text_too_long');
    const stop = new AbortController();
    const signal = AbortSignal.any([context.signal, stop.signal]);
    const begin = (index: number): Promise<ProviderAudio> => {
      const { text = '', voiceId = '' } = lines[index] ?? {};
      const owner = context.owner && ownerOfTurn(context.owner, signal, index);
      const turn = { ...settings, text, voiceId, format: 'pcm' } as const;
      return this.speech.speak(turn, { ...context, signal, owner });
    };
    using room = roomFor(format, context, this.http);
    const first = await begin(0);
    try {
      const turns = await this.samplesOf(lines, { first, begin, stop }, context.owner);
      const speech = { samples: Buffer.concat(turns.flat()), sampleRate: SPEECH_HZ };
      const body = await speechBody(speech, format, room);
      return { body, providerRequestId: first.providerRequestId };
    } catch (error) {
      if (error instanceof ProviderError) error.isPartial = true;
      // What aborted the call is known by its identity.
      const isOurs = error instanceof GatewayError && !context.signal.aborted;
      throw isOurs ? error.withoutRetry() : error;
    }
  }

  /** The samples of each line. The first failure ends the other requests, and is thrown once they have ended. */
  private async samplesOf(
    lines: DialogueCommand['lines'],
    { first, begin, stop }: BegunDialogue,
    owner: AttemptOwner | undefined,
  ): Promise<readonly (readonly Buffer[])[]> {
    const turns: Buffer[][] = [];
    const read = { bytes: 0, codePoints: 0 };
    const finish = async (index: number, audio: ProviderAudio): Promise<void> => {
      turns[index] = await this.samplesIn(audio, read);
      read.codePoints += codePointCount(lines[index]?.text ?? '');
      owner?.onMade?.({ unit: 'code_point', quantity: read.codePoints });
    };
    // All workers take their lines from the one iterator.
    const waiting = lines.keys();
    waiting.next();
    const work = async (): Promise<void> => {
      for (const index of waiting) await finish(index, await begin(index));
    };
    const workers = [finish(0, first).then(work)];
    while (workers.length < TURNS_AT_ONCE) workers.push(work());
    const end = (error: unknown): void => {
      stop.abort(error);
    };
    await Promise.all(workers.map((worker) => worker.catch(end)));
    stop.signal.throwIfAborted();
    return turns;
  }

  /** Whole samples: a half one at the end would make noise of the next turn. */
  private async samplesIn({ body }: ProviderAudio, read: { bytes: number }): Promise<Buffer[]> {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      read.bytes += chunk.length;
      if (read.bytes > MAX_RAW_BYTES) throw this.http.unusableAnswer('audio_too_long');
      chunks.push(chunk);
    }
    if (sizeBytes % 2 === 1) chunks.push((chunks.pop() ?? Buffer.of()).subarray(0, -1));
    return chunks;
  }
}

/** Figures of each turn have a name of their own, so that they are added and not replaced by those of the next one. */
function ownerOfTurn(owner: AttemptOwner, signal: AbortSignal, index: number): AttemptOwner {
  const { accountId, traceParent } = owner;
  return {
    signal,
    accountId,
    traceParent,
    mayStillSend: () => owner.mayStillSend?.() ?? true,
    onFigures: (figures) => {
      const named = Object.entries(figures).map(([name, value]) => [
        `step${index + 1}.${name}`,
        value,
      ]);
      owner.onFigures?.(Object.fromEntries(named) as typeof figures);
    },
  };
}
