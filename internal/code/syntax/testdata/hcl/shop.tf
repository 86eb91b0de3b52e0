# provider
terraform {
  required_version = ">= 1"
}
variable "region" {
  default = "x"
}
resource "aws_instance" "web" {
  ami = var.region
  provisioner "local-exec" { command = "x" }
}
locals {
  a = 1
  b = module.vpc.id
}
module "vpc" { source = "./vpc" }
output "o" { value = aws_instance.web.id }
x = 3
