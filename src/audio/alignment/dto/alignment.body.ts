import { Text } from '../../../common/validation/fields.js';
import { recordingBody } from '../../recording.body.js';

/** Body (API: POST /v1/audio/alignment). */
export class AlignmentBody extends recordingBody('aud-forced-alignment') {
  @Text({
    max: 100_000,
    description: 'What is said in the recording; not billed',
    example: 'Hello, who is there?',
  })
  text!: string;
}
