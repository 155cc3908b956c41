import { Controller, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { AudioEndpoint } from './audio-endpoint.decorators.js';
import { AudioResponse } from './audio-response.decorator.js';
import { SpeechBody, DialogueBody } from './dto/spoken-text.body.js';
import { SpeechService } from './speech.service.js';
import { DialogueService } from './dialogue.service.js';

/** Text that voices speak: speech and dialogue. */
@Controller()
export class SpokenTextController {
  constructor(
    private readonly speech: SpeechService,
    private readonly dialogue: DialogueService,
  ) {}

  @AudioEndpoint('speech', 'invalid_input', 'input_too_long')
  @AudioResponse('mp3', 'opus', 'pcm', 'wav')
  @BodyExamples(SpeechBody, {
    speech: { model: 'aud-v4', input: 'Hello, this is Shim speaking.', voice: 'Adam' },
  })
  @ApiOperation({ summary: 'Text to speech', description: 'The audio is the body of the answer.' })
  createSpeech(
    @Call() call: AdmittedCall<'speech'>,
    @StrictBody() body: SpeechBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.speech.speak(call, body, response);
  }

  @AudioEndpoint('dialogue')
  @AudioResponse('mp3', 'opus', 'pcm', 'wav')
  @BodyExamples(DialogueBody, {
    dialogue: {
      model: 'aud-v4-dialogue',
      inputs: [
        { text: 'Hello, who is there?', voice: 'Adam' },
        { text: 'It is me.', voice: 'Alice' },
      ],
    },
  })
  @ApiOperation({
    summary: 'Text to dialogue',
    description: 'Several voices speak in turn; billed per character of all lines.',
  })
  createDialogue(
    @Call() call: AdmittedCall<'dialogue'>,
    @StrictBody() body: DialogueBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.dialogue.speak(call, body, response);
  }
}
