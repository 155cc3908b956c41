import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { DialogueCommand, DialoguePort, ProviderAudio } from '../ports/audio.port.js';
import { requestAudio, withOutputFormat } from './elevenlabs-audio.js';

/** Dialogue over the ElevenLabs wire protocol. */
export class ElevenLabsDialogue implements DialoguePort {
  constructor(private readonly http: ProviderHttp) {}

  speakDialogue(
    command: DialogueCommand,
    { upstreamModel, signal, terms, onFigures }: AttemptContext,
  ): Promise<ProviderAudio> {
    const { format } = command;
    const path = withOutputFormat('/v1/text-to-dialogue', format);
    const body = jsonBody(dialogueBody(command, upstreamModel));
    return requestAudio(this.http, { path, body, format, signal, terms, onFigures });
  }
}

function dialogueBody(command: DialogueCommand, upstreamModel: string): object {
  return {
    model_id: upstreamModel,
    inputs: command.lines.map(({ text, voiceId }) => ({ text, voice_id: voiceId })),
    language_code: command.language,
    settings: command.stability === undefined ? undefined : { stability: command.stability },
    seed: command.seed,
  };
}
