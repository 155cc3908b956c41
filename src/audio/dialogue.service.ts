import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfText } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
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
  speak(call: AdmittedCall<'dialogue'>, body: DialogueBody, response: Response): Promise<void> {
    const { row } = call;
    return this.audio.play(
      call,
      body,
      async (work) => work({ quote: quoteOfDialogue(row, body), command: commandOf(row, body) }),
      response,
    );
  }
}

/** What the lines cost together. Throws `invalid_request` for too much text or too many voices. */
export function quoteOfDialogue(row: ModelRow<'dialogue'>, { inputs }: DialogueBody): Quote {
  const { id, price, limits } = row;
  const { maxInput, maxVoices = MAX_VOICES } = limits;
  const length = inputs.reduce((sum, { text }) => sum + codePointCount(text), 0);
  if (length > maxInput) {
    throw refused(`has ${length} characters in all; ${id} takes ${maxInput}`);
  }
  const voices = new Set(spokenLines(row, inputs).map(({ voiceId }) => voiceId)).size;
  if (voices > maxVoices) throw refused(`has ${voices} voices; at most ${maxVoices} may speak`);
  return quoteOfText(price, length);
}

/** The lines with their voices as providers call them. */
function spokenLines(
  row: ModelRow<'dialogue'>,
  inputs: DialogueBody['inputs'],
): DialogueCommand['lines'] {
  return inputs.map(({ text, voice }, index) => ({
    text,
    voiceId: voiceIdOf(row, voice, `inputs.${index}.voice`),
  }));
}

function commandOf(row: ModelRow<'dialogue'>, body: DialogueBody): DialogueCommand {
  return {
    lines: spokenLines(row, body.inputs),
    format: body.response_format,
    language: body.language,
    stability: body.stability,
    seed: body.seed,
  };
}

function refused(fault: string): GatewayError {
  return new GatewayError('invalid_request', `inputs ${fault}.`, { param: 'inputs' });
}
