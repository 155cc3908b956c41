import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Response } from 'express';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { CostedRoute } from '../catalog/route-cost.js';
import { AbleRoutes } from '../providers/routing/able-routes.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import {
  AUDIO_CONTENT_TYPES,
  AudioWriter,
  type AudioFormatName,
} from '../platform/http-server/responses/audio-response.js';
import {
  type Charged,
  JSON_ANSWER_TYPE,
  sendCharged,
} from '../platform/http-server/responses/gateway-headers.js';
import type { CallOrder, DeferredRun, MadeFile, Ordered } from '../tasks/deferred/call-order.js';
import { DeferredCalls } from '../tasks/deferred/deferred-calls.js';
import {
  READING_WORK,
  type ReadingCommands,
  type ReadingOperation,
  SOUND_WORK,
  type SoundCommands,
  type SoundOperation,
} from './audio-work.js';
import { SizedWav } from './wav/sized-wav.js';

/** Paid calls about audio: answered at once, or as a task where the caller prefers that. */
@Injectable()
export class PaidAudio implements OnModuleInit {
  constructor(
    private readonly calls: PaidCalls,
    private readonly wav: SizedWav,
    private readonly deferred: DeferredCalls,
    private readonly able: AbleRoutes,
  ) {}

  onModuleInit(): void {
    for (const operation of Object.keys(SOUND_WORK) as SoundOperation[]) {
      const make = (run: DeferredRun<SoundOperation, SoundCommands[SoundOperation]>) =>
        this.soundFile(operation, run);
      this.deferred.register({ operation, modality: 'audio', make });
    }
    for (const operation of Object.keys(READING_WORK) as ReadingOperation[]) {
      const make = (run: DeferredRun<ReadingOperation, ReadingCommands[ReadingOperation]>) =>
        this.readingFile(operation, run);
      this.deferred.register({ operation, modality: 'audio', make });
    }
  }

  /**
   * Sends the provider's audio as it arrives; a WAV with correct sizes once it is complete ({@link SizedWav}). The
   * response ends once the charge is durable (decisions G-25, G-28). Throws 402 `insufficient_funds` and the provider's
   * failures.
   */
  async play<O extends SoundOperation>(
    call: AdmittedCall<O>,
    body: object,
    ordered: Ordered<SoundCommands[O]>,
    response: Response,
  ): Promise<void> {
    if (call.deferral) return this.deferred.submit(call, body, ordered, response);
    return ordered((order) => this.playNow(call, order, new AudioWriter(response)));
  }

  /** Sends what the provider read in the recording. Throws as {@link play}. */
  async read<O extends ReadingOperation>(
    call: AdmittedCall<O>,
    body: object,
    ordered: Ordered<ReadingCommands[O]>,
    response: Response,
  ): Promise<void> {
    const routed: Ordered<ReadingCommands[O]> = (work) =>
      ordered((order) => work({ ...order, routes: this.ableRoutes(call, order) }));
    if (call.deferral) return this.deferred.submit(call, body, routed, response);
    return sendCharged(
      response,
      routed((order) => this.readNow(call, order)),
    );
  }

  /**
   * Of several routes those that do all that is asked. A model with one route is what its operator made it. Throws as
   * {@link AbleRoutes.of}.
   */
  private ableRoutes<O extends ReadingOperation>(
    call: AdmittedCall<O>,
    { command, shown = {} }: CallOrder<ReadingCommands[O]>,
  ): readonly CostedRoute[] {
    if (call.row.routes.length < 2) return call.routes;
    const { lacks, sentName } = READING_WORK[call.row.operation];
    return this.able.of(
      call,
      call.row.operation,
      (port, { upstreamModel }) => lacks(port, command, upstreamModel),
      (field) => sentName(field, shown),
    );
  }

  private async playNow<O extends SoundOperation>(
    call: AdmittedCall<O>,
    { quote, command }: CallOrder<SoundCommands[O]>,
    writer: AudioWriter,
  ): Promise<void> {
    await using paid = await this.calls.start(call, quote);
    const ask = SOUND_WORK[call.row.operation];
    const { result } = await paid.attempt((port, context) => ask(port, command, context));
    const { accountId } = call.caller;
    const arrived = (): void => {
      paid.onArrival();
    };
    const format = formatOf(command);
    const audio =
      format === 'wav'
        ? await paid.orRelease(this.wav.of(result.body, accountId, arrived))
        : result.body;
    audio.once('data', () => {
      paid.onFirstByte();
    });
    const end = await paid.orRelease(writer.stream(audio, format, quote.amountMicroUsd));
    await paid.settle();
    await writer.keep();
    end();
  }

  private async readNow<O extends ReadingOperation>(
    call: AdmittedCall<O>,
    { quote, command, shown = {}, routes = call.routes }: CallOrder<ReadingCommands[O]>,
  ): Promise<Charged<object>> {
    await using paid = await this.calls.start({ ...call, routes }, quote);
    const { ask, view } = READING_WORK[call.row.operation];
    const { result } = await paid.attempt((port, context) => ask(port, command, context));
    const value = view(result, shown);
    return { value, chargedMicroUsd: await paid.settle() };
  }

  private async soundFile<O extends SoundOperation>(
    operation: O,
    { command, accountId, attempt }: DeferredRun<O, SoundCommands[O]>,
  ): Promise<MadeFile> {
    const ask = SOUND_WORK[operation];
    const { body, providerRequestId } = await attempt((port, context) =>
      ask(port, command, context),
    );
    const format = formatOf(command);
    const audio = format === 'wav' ? await this.wav.of(body, accountId) : body;
    const contentType = AUDIO_CONTENT_TYPES[format];
    return { body: audio, contentType, extension: format, providerRequestId };
  }

  private async readingFile<O extends ReadingOperation>(
    operation: O,
    { command, shown, attempt }: DeferredRun<O, ReadingCommands[O]>,
  ): Promise<MadeFile> {
    const { ask, view } = READING_WORK[operation];
    const result = await attempt((port, context) => ask(port, command, context));
    const body = Buffer.from(JSON.stringify(view(result, shown)));
    const { providerRequestId } = result;
    const contentType = JSON_ANSWER_TYPE;
    return { body, contentType, extension: 'json', isWords: true, providerRequestId };
  }
}

/** Isolated speech is always MP3. */
function formatOf(command: SoundCommands[SoundOperation]): AudioFormatName {
  return 'format' in command ? command.format : 'mp3';
}
