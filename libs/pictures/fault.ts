/** Says why a file is not accepted as a picture. */

/** The reasons, with what each one means. */
export const pictureFaults = {
  unsupported_type: 'The file is not a PNG, JPEG or GIF',
  truncated: 'The file ends before the picture does',
  malformed: 'The file breaks the rules of its format',
  too_many_pixels: 'The picture has more than 100 megapixels',
} as const;

export type PictureFault = keyof typeof pictureFaults;

/** Is thrown inside of this library for a file that is not accepted. */
export class PictureRejected extends Error {
  readonly fault: PictureFault;

  constructor(fault: PictureFault) {
    super(pictureFaults[fault]);
    this.fault = fault;
  }
}
