mod instructions;
mod oracle;
mod timing;
