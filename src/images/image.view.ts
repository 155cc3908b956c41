import { ApiProperty } from '@nestjs/swagger';

class ImageDataView {
  @ApiProperty({ description: 'The bytes of the image in base64' })
  b64_json!: string;
}

/** The image response (API: Image response). */
export class ImageView {
  @ApiProperty({ description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ type: [ImageDataView], description: 'The images that were made' })
  data!: ImageDataView[];
}
