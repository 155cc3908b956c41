import { Controller, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { AudioWriter } from '../../platform/http-server/responses/audio-response.js';
import { BodyExamples } from '../../common/validation/body-examples.decorator.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { AudioEndpoint } from '../../admission/call-endpoint.decorators.js';
import { AudioResponse } from '../audio-response.decorator.js';
import { DialogueService } from './dialogue.service.js';
import { DialogueBody } from './dto/dialogue.body.js';

/** Text to dialogue. */
@Controller()
export class DialogueController {
  constructor(private readonly dialogue: DialogueService) {}

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
    return this.dialogue.speak(call, body, new AudioWriter(response));
  }
}
