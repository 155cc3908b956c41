import { Injectable } from '@nestjs/common';
import type { AudioWriter } from '../platform/http-server/responses/audio-response.js';
import { quoteOfText } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { codePointCount } from '../common/validation/text-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { DialogueCommand } from '../providers/ports/audio.port.js';
import { voiceIdOf } from './audio-fields.js';
import { PaidAudio } from './paid-audio.js';
import type { DialogueBody } from './dto/spoken-text.body.js';

/** Different voices of one dialogue, counted after names are replaced by ids (decision G-37). */
const MAX_VOICES = 10;

/** Text to dialogue (API: POST /v1/audio/dialogue). */
@Injectable()
export class DialogueService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Speaks the lines into the body of the response. Throws `invalid_request` for too much text or too many voices, both
   * with param `inputs`, and what `PaidAudio.play` throws.
   */
  async speak(
    call: AdmittedCall<'dialogue'>,
    body: DialogueBody,
    writer: AudioWriter,
  ): Promise<void> {
    const command = commandOf(body);
    const length = command.lines.reduce((sum, { text }) => sum + codePointCount(text), 0);
    const { maxInput } = call.row.limits;
    if (length > maxInput) {
      throw refused(`has ${length} characters in all; ${call.row.id} takes ${maxInput}`);
    }
    const voices = new Set(command.lines.map(({ voiceId }) => voiceId)).size;
    if (voices > MAX_VOICES) throw refused(`has ${voices} voices; at most ${MAX_VOICES} may speak`);
    await this.audio.play(
      call,
      quoteOfText(call.row.price, length),
      (port, context) => port.speakDialogue(command, context),
      command.format,
      writer,
    );
  }
}

function commandOf(body: DialogueBody): DialogueCommand {
  return {
    lines: body.inputs.map(({ text, voice }) => ({ text, voiceId: voiceIdOf(voice) })),
    format: body.response_format,
    language: body.language,
    stability: body.stability,
    seed: body.seed,
  };
}

function refused(fault: string): GatewayError {
  return new GatewayError('invalid_request', `inputs ${fault}.`, { param: 'inputs' });
}
