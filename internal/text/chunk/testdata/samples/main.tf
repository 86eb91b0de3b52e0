resource "aws_s3_bucket" "logs" {
  bucket = "x"
}

variable "name" {
  type = string
}
